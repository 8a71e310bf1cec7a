"""KataGo's analysis engine: queries about positions of Go in, a JSON object a line each way."""
