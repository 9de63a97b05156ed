# h2o with one thread: PORT ROOT, and for TLS 1.3 CERTIFICATE KEY
[ -z "$3" ] || ssl=", ssl: { certificate-file: $3, key-file: $4, minimum-version: TLSv1.3, ocsp-update-interval: 0 }"
cat >h2o.conf <<CONFIGURATION
user: $(id -un)
num-threads: 1
max-connections: 20000
http1-request-timeout: 60
listen: { host: 127.0.0.1, port: $1$ssl }
hosts: { default: { paths: { /: { file.dir: $2 } } } }
CONFIGURATION
exec h2o -c h2o.conf
