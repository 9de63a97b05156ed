# frozen_string_literal: true

Rails.application.routes.draw do
  mount ActionCable.server => "/cable"
  resources :notes
  get "up" => "rails/health#show"
  get "reloaded" => "reloaded#show"
  get "events" => "events#index"
  controller :checks do
    %w[marker locale hold held pool stream halves level performed].each { |name| get name }
    %w[upload transaction enqueue].each { |name| post name }
  end
end
