/** Big packages that few configs use, by the module that uses them: `from` is how it imports them, `uses` what it calls. */
const LATER = [
  { module: 'packages/regex/src/compile-regex.ts', name: 're2js', member: 'RE2JS', uses: 'RE2JS.compile(' },
]

/**
 * Lets the built gateway run the code of a package when it is first called. Sources import it like any other: only
 * CommonJS, which the built program is, can load in the middle of a function.
 */
export const loadLater = {
  name: 'load-later',
  transform: {
    filter: { id: LATER.map(({ module }) => new RegExp(`/${module.replaceAll('.', '\\.')}$`)) },
    handler(code, id) {
      const { name, member, uses } = LATER.find(({ module }) => id.endsWith(module)) ?? LATER[0]
      const imports = `import { ${member} } from '${name}'\n`
      if (!code.includes(imports) || !code.includes(uses)) throw new Error(`${id} uses ${name} in another way`)
      return code.replace(imports, '').replaceAll(uses, `require('${name}').${uses}`)
    },
  },
}
