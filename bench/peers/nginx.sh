# nginx with one worker that keeps files open and logs nothing: PORT ROOT, and for TLS 1.3 CERTIFICATE KEY CIPHERSUITES, or DEFAULT
[ -z "$3" ] || ssl=ssl certificate="ssl_certificate $3; ssl_certificate_key $4; ssl_protocols TLSv1.3;"
[ "${5:-DEFAULT}" = DEFAULT ] || ciphersuites="ssl_conf_command Ciphersuites $5;"
cat >nginx.conf <<CONFIGURATION
worker_processes 1;
daemon off;
user $(id -un) $(id -gn);
pid $PWD/nginx.pid;
error_log stderr;
events { worker_connections 20000; }
http {
  include /etc/nginx/mime.types;
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  open_file_cache max=1000 inactive=60s;
  open_file_cache_valid 1s;
  client_body_temp_path $PWD; proxy_temp_path $PWD; fastcgi_temp_path $PWD; uwsgi_temp_path $PWD; scgi_temp_path $PWD;
  $certificate
  $ciphersuites
  server { listen 127.0.0.1:$1 $ssl backlog=4096; root $2; }
}
CONFIGURATION
exec nginx -e stderr -p "$PWD" -c "$PWD/nginx.conf"
