# frozen_string_literal: true

ActiveRecord::Schema.define(version: 1) do
  create_table :notes, force: true do |t|
    t.string :title, null: false
    t.text :body
    t.timestamps
  end

  if defined?(SolidQueue)
    load Gem.loaded_specs.fetch("solid_queue").full_gem_path + "/lib/generators/solid_queue/install/templates/db/queue_schema.rb"
  end
end
