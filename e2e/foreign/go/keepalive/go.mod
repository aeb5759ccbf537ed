module portico.test/foreign/keepalive

go 1.25.0
