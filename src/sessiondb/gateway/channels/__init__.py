"""The platforms people write on; `base` is the interface, the registry's group `channels` names them."""
