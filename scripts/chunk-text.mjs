const GETTER =
  /^Object\.defineProperty\(exports, "([^"]+)", \{\s*enumerable: true,\s*get: function ?\(\) \{\s*return ([\w$]+);\s*\}\s*\}\);\n?/gm

/**
 * Prepares chunks for loading: ASCII only; exports as plain members, which are cheaper to read than getters; imports as
 * constants; and no parenthesized functions around lazy modules, because V8 would compile those at once.
 *
 * @param {Map<string, string>} codeByFile
 * @param {Set<string>} laterFiles are loaded at their first use
 */
export function asChunks(codeByFile, laterFiles = new Set()) {
  const chunks = new Map(
    [...codeByFile].map(([file, code]) => [file, withLaterBuiltins(withLaterImports(asChunk(code), laterFiles))]),
  )
  const exportsByFile = new Map([...chunks].map(([file, code]) => [file, plainExports(code)]))
  return new Map([...chunks].map(([file, code]) => [file, withConstantImports(code, exportsByFile)]))
}

/** Applies the changes that need no knowledge of other chunks. */
export function asChunk(code) {
  return withoutUnusedRuntime(hasPlainExports(code) ? code : withPlainExports(code))
    .replace(/(__(?:esm|commonJS)Min\()\(\(/g, '$1(0, (')
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Every chunk imports the helpers of the bundler, even one that uses none. */
function withoutUnusedRuntime(code) {
  const [line, name] = /^const (require_rolldown_runtime) = require\("\.\/[^"]+"\);\n/m.exec(code) ?? []
  return line !== undefined && code.split(name).length === 2 ? code.replace(line, '') : code
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

/** Whether anything but a declaration assigns a variable of that name: then importers must read the current value. */
function isAssignedLater(code, local) {
  const name = local.replaceAll('$', '\\$')
  const assignment = `(?<![\\w$.#]|\\b(?:const|let|var)\\s+)${name}\\s*(?:[-+*/%&|^?]{0,3}=(?![=>])|\\+\\+|--)`
  return new RegExp(assignment).test(code)
}

function plainExports(code) {
  const [, members = ''] = /^module\.exports = \{\n([^}]*)/m.exec(code.replace(/^\tget .*\n/gm, '')) ?? []
  return new Set(Array.from(members.matchAll(/^\t([\w$]+): /gm), ([, name]) => name))
}

const IMPORT = /^const (require_[\w$]+) = require\("\.\/([^"]+)"\);\n/gm

/**
 * Turns imported members into constants. V8 treats an object with more than 127 members as a hash table, so each use would
 * be a lookup and never inlined.
 */
function withConstantImports(code, exportsByFile) {
  const imports = [...code.matchAll(IMPORT)]
  for (const [line, chunk, file] of imports) {
    const plain = exportsByFile.get(file) ?? new Set()
    const used = new Set()
    const rest = code.replace(
      new RegExp(`(?<![\\w$.])${chunk.replaceAll('$', '\\$')}\\.([\\w$]+)`, 'g'),
      (use, name) => {
        if (!plain.has(name)) return use
        used.add(name)
        return `${chunk}$${name}`
      },
    )
    if (used.size === 0) continue
    const members = Array.from(used, (name) => `${name}: ${chunk}$${name}`)
    code = rest.replace(line, () => `${line}const { ${members.join(', ')} } = ${chunk};\n`)
  }
  return code
}

/** Replaces uses of a lazy chunk by a call that loads it; sources import it like any other module. */
function withLaterImports(code, laterFiles) {
  for (const [line, chunk, file] of code.matchAll(IMPORT)) {
    if (!laterFiles.has(file)) continue
    const name = chunk.replaceAll('$', '\\$')
    const loaded = `require("./${file}")`
    code = code.replace(line, '')
    // A CommonJS package has a variable for its exports.
    for (const [use, variable, call] of code.matchAll(
      new RegExp(`^(?:var|let|const) ([\\w$]+) = ${name}\\.(.+);\\n`, 'gm'),
    )) {
      code = code
        .replace(use, '')
        .replaceAll(new RegExp(`(?<![\\w$.])${variable.replaceAll('$', '\\$')}\\.`, 'g'), () => `(${loaded}.${call}).`)
    }
    code = code.replaceAll(new RegExp(`(?<![\\w$.])${name}\\.`, 'g'), () => `(${loaded}).`)
  }
  return code
}

/** Builtins that many threads never use, and that take milliseconds to load. */
const LATER_BUILTINS = [
  ...['http2', 'crypto', 'tls', 'http', 'dns', 'fs/promises', 'zlib', 'worker_threads', 'timers/promises', 'module'],
].map((name) => `node:${name}`)

/**
 * Loads a builtin where the chunk first uses one of its members. A default import adds a line that wraps the builtin for ES
 * modules, which is delayed too. A chunk with any other use of the name keeps its import: such a use would see a function,
 * and an assignment would fail when the chunk is loaded.
 */
function withLaterBuiltins(code) {
  for (const id of LATER_BUILTINS) {
    const name = id.replace(/\W/g, '_')
    const line = `let ${name} = require("${id}");\n`
    if (!code.includes(line)) continue
    const interop = new RegExp(`^${name} = ([\\w$.]*__toESM)\\(${name}(, 1)?\\);\\n`, 'm').exec(code)
    const [wrapped = '', toEsm, asNode = ''] = interop ?? []
    const builtin = `require("${id}")`
    const value = toEsm === undefined ? builtin : `${toEsm}(${builtin}${asNode})`
    const rest = code.replace(line, '').replace(wrapped, '')
    if (new RegExp(`(?<![\\w$.])${name}(?![\\w$]|\\.[\\w$])`).test(rest)) continue
    const loaded = `let ${name}$loaded;\nconst ${name} = () => ${name}$loaded ??= ${value};\n`
    code = code
      .replace(wrapped, '')
      .replace(line, () => loaded)
      .replace(new RegExp(`\\bnew ${name}\\.([\\w$]+)`, 'g'), `new (${name}().$1)`)
      .replace(new RegExp(`(?<![\\w$.])${name}\\.`, 'g'), `${name}().`)
  }
  return code
}
