module deed.example/deed

go 1.26.0
