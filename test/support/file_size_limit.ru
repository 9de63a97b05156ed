# frozen_string_literal: true

# Tells what SIGXFSZ does in the programs that it starts, and how often it came here where the application traps it.

raised = 0
trap("XFSZ") { raised += 1 } if ENV["TRAPS"]

STATUS = -> { IO.popen(["grep", "-E", "SigBlk|SigIgn", "/proc/self/status"], &:read) }

run ->(env) { [200, {}, [env["PATH_INFO"] == "/spawned" ? STATUS.call : raised.to_s]] }
