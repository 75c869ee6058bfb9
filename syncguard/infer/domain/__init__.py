"""What can be known of an expression: the kinds of value, how two paths agree on one, how surely it is a tensor."""
