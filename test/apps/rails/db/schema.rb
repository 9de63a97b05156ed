# frozen_string_literal: true

ActiveRecord::Schema.define(version: 1) do
  create_table :notes, force: true do |t|
    t.string :title, null: false
    t.text :body
    t.timestamps
  end
end
