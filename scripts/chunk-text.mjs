const GETTER =
  /^Object\.defineProperty\(exports, "([^"]+)", \{\s*enumerable: true,\s*get: function ?\(\) \{\s*return ([\w$]+);\s*\}\s*\}\);\n?/gm

/**
 * A chunk as it is loaded: ASCII, its exports plain members, which cost less at each use than getters, and nothing about
 * modules that run later that makes V8 compile them at once, as a function in brackets of its own does.
 */
export function asChunk(code) {
  return (hasPlainExports(code) ? code : withPlainExports(code))
    .replace(/(__(?:esm|commonJS)Min\()\(\(/g, '$1(0, (')
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function hasPlainExports(code) {
  return /^exports\./m.test(code)
}

function withPlainExports(code) {
  const members = []
  const rest = code.replace(GETTER, (_, name, local) => {
    members.push(isAssignedLater(code, local) ? `get ${name}() { return ${local}; }` : `${name}: ${local}`)
    return ''
  })
  const exported = members.length === 0 ? '' : `module.exports = {\n\t${members.join(',\n\t')}\n};\n`
  return `${rest}${exported}`
}

/** Whether anything but its declaration gives a variable a value: then users must see the newest. */
function isAssignedLater(code, local) {
  const name = local.replaceAll('$', '\\$')
  const assignments = code.match(new RegExp(`(?<![\\w$.#])${name}\\s*(?:[-+*/%&|^?]{0,3}=(?![=>])|\\+\\+|--)`, 'g'))
  return (assignments ?? []).length > 1
}
