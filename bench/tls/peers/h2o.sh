# h2o with one thread: PORT ROOT CERTIFICATE KEY
cat >h2o.conf <<CONFIGURATION
user: $(id -un)
num-threads: 1
max-connections: 20000
http1-request-timeout: 60
listen: { host: 127.0.0.1, port: $1, ssl: { certificate-file: $3, key-file: $4, minimum-version: TLSv1.3, ocsp-update-interval: 0 } }
hosts: { default: { paths: { /: { file.dir: $2 } } } }
CONFIGURATION
exec h2o -c h2o.conf
