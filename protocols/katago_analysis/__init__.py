"""KataGo's analysis protocol, in which each query and each reply is one line of JSON."""
