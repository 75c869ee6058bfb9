"""What an editor asks, answered: findings of unsaved text, what can be done about them, what is believed of a place."""
