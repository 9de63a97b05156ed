# frozen_string_literal: true

Rails.application.routes.draw do
  mount ActionCable.server => "/cable"
  resources :notes
  get "up" => "rails/health#show"
  get "reloaded" => "reloaded#show"
  get "events" => "events#index"
  controller :checks do
    get "marker", "hold", "held", "pool", "stream", "halves", "level"
    post "upload", "transaction", "enqueue"
    get "performed"
  end
end
