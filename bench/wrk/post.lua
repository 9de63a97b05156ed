-- Posts 10 KB.
wrk.method = "POST"
wrk.body = string.rep("0123456789", 1024)
wrk.headers["Content-Type"] = "application/octet-stream"
