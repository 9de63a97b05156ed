# frozen_string_literal: true

require "test_helper"
require "upwell/server/logs/request_description"

# The words for the operator.
class RequestDescriptionTest < Minitest::Test
  DESCRIPTION = Upwell::Server::Logs::RequestDescription
  ENVIRONMENT = { "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "", "PATH_INFO" => "/a", "REMOTE_ADDR" => "127.0.0.1" }.freeze

  def test_a_request_is_where_the_client_asked_for_it
    assert_equal "GET /a from 127.0.0.1", DESCRIPTION.request(ENVIRONMENT)
    assert_equal "GET /admin/a from 127.0.0.1", DESCRIPTION.request(ENVIRONMENT.merge("SCRIPT_NAME" => "/admin"))
  end

  def test_a_request_of_which_an_application_has_made_something_else
    assert_equal "GET ?\\xFF\\x0A from ?",
                 DESCRIPTION.request(ENVIRONMENT.merge("SCRIPT_NAME" => nil, "PATH_INFO" => "\xFF\n", "REMOTE_ADDR" => 1))
    assert_equal "? ?/a from 127.0.0.1",
                 DESCRIPTION.request(ENVIRONMENT.merge("REQUEST_METHOD" => BasicObject.new, "SCRIPT_NAME" => :a))
  end
end
