"""Who asks and what they may: TLS, authentication, authorization."""
