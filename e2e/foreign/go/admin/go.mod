module portico.test/foreign/admin

go 1.25.0
