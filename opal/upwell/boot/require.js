// Resolves features by name. Those of the application's directory start with ~/, wherever it is. A missing feature raises a LoadError.
(function(Opal) {
  var normalize = Opal.normalize;

  Opal.root = globalThis.Opal_root || process.cwd();

  Opal.own_path = (name) => Opal.root + name.slice(1);

  Opal.normalize = function(path) {
    path = path.valueOf();
    if (path.startsWith(Opal.root + '/')) path = '~' + path.slice(Opal.root.length);
    else if (path.startsWith('./')) path = '~' + path.slice(1);
    return normalize(path);
  };

  Opal.config.missing_require_severity = 'error';
})(Opal);
