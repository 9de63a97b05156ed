# backtick_javascript: true
# frozen_string_literal: true

# What `variable << more` is compiled to, see Upwell::Opal::Build::Rewriters::Appending.
%x{
  Opal.append = function(target, more) {
    if (!target.$$is_string) return target['$<<'](more);
    if (typeof more === 'number') more = #{`more`.chr};
    return target['$+'](more);
  };
}
