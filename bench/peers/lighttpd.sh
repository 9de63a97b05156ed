# lighttpd with epoll and sendfile: PORT ROOT
cat >lighttpd.conf <<CONFIGURATION
server.bind = "127.0.0.1"
server.port = $1
server.document-root = "$2"
server.modules = ()
server.max-fds = 40000
server.max-connections = 20000
server.max-keep-alive-requests = 1000000000
server.max-keep-alive-idle = 60
server.event-handler = "linux-sysepoll"
server.network-backend = "sendfile"
mimetype.assign = (".html" => "text/html")
CONFIGURATION
exec lighttpd -D -f lighttpd.conf
