"""From what a user writes to what the platform is: pure data and pure functions, no Pulumi and no network."""
