"""Driving other programs' engines: their processes and their protocol, whatever they do."""
