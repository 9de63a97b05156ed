# frozen_string_literal: true

require "cgi"
p CGI.escape("a b&é~*"), CGI.unescape("a+b%26"), CGI.escapeHTML("<a href='x'>&\"é"), CGI.unescapeHTML("&lt;&#39;&#x41;&amp;&eacute;")
p CGI.unescapeHTML("&#xDCC3;&#56515;").bytesize
