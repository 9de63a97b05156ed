# A case whose values are literals.

case 1 when 1 then p :one end
case -1
when -1 then p :minus_one
else p :other
end
case (1)
when 1 then p :in_parentheses
end
case a = 5
when 5 then p a
end
case 1.5
when 1, 2 then p :integer
when 1.5 then p :float
end
p(case 1 when Integer then :integer end)
p(case 5 when 1..3 then :low when 4..9 then :high end)
p(case "a" when "a", "b" then :letter end)
p(case nil when nil then :nothing end)
def sign(number)
  case number
  when 0 then return :none
  when 1, 2 then return :few
  else return :many
  end
end
p sign(0), sign(2), sign(3)
