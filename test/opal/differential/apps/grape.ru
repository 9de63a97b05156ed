# frozen_string_literal: true

require "grape"

class API < Grape::API
  format :json
  version "v1", using: :path
  rescue_from(ArgumentError) { |e| error!({ error: e.message }, 422) }

  get(:hello) { { hello: params[:name] || "world" } }
  params do
    requires :a, type: Integer
    optional :b, type: Integer, default: 2, values: 1..10
  end
  get(:sum) { { sum: params[:a] + params[:b] } }
  get(:fails) { raise ArgumentError, "on purpose" }
  namespace :items do
    route_param(:id) { get { { id: params[:id] } } }
    post { { posted: params[:name] } }
  end
end

run API
