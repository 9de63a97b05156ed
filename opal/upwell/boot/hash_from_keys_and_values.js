// Builds a Hash from alternating keys and values.
Opal.hash_of = function() {
  const hash = new Map();

  for (let i = 0; i < arguments.length; i += 2) hash.set(arguments[i], arguments[i + 1]);
  return hash;
};
