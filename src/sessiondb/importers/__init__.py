"""Histories of other agents: one parser per agent, and a runner that brings them in."""
