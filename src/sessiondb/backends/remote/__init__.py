"""A store on another machine, reached through ssh; see `provider` and `wire`."""

from .provider import RemoteProvider

__all__ = ["RemoteProvider"]
