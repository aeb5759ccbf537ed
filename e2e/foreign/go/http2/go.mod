module portico.test/foreign/http2

go 1.25.0
