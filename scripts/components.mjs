// Prepares a process for tests of components (`*.test.tsx`): Node strips types but knows neither JSX nor style sheets, and
// has no document. Rolldown compiles the JSX, as it does for the product; happy-dom is the document.
import { readFileSync } from 'node:fs'
import { registerHooks, setSourceMapsSupport } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Window } from 'happy-dom'
import { transformSync } from 'rolldown/utils'

/** Names that Node has too, but of which components need the browser's. */
const OF_THE_BROWSER = [
  'navigator',
  'location',
  'localStorage',
  'sessionStorage',
  'Event',
  'EventTarget',
  'CustomEvent',
]

setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'virtual:config-schema')
      return { url: new URL('../schema/config.json', import.meta.url).href, format: 'config', shortCircuit: true }
    // Libraries have builds for servers, which do without a document.
    if (!specifier.endsWith('.css'))
      return next(specifier, { ...context, conditions: ['browser', ...context.conditions] })
    return { url: new URL(specifier, context.parentURL).href, format: 'styles', shortCircuit: true }
  },
  load(url, context, next) {
    if (context.format === 'styles') return asModule('')
    if (context.format === 'config') return asModule(`export default ${readFileSync(fileURLToPath(url), 'utf8')}`)
    return url.endsWith('.tsx') ? asModule(compile(fileURLToPath(url))) : next(url, context)
  },
})
provideDocument(new Window({ url: 'http://127.0.0.1/ui/', width: 1280, height: 800 }))
// React then reports an update that a test does not wait for.
globalThis.IS_REACT_ACT_ENVIRONMENT = true

function asModule(source) {
  return { format: 'module', source, shortCircuit: true }
}

function compile(file) {
  const { code, map, errors } = transformSync(file, readFileSync(file, 'utf8'), {
    jsx: { runtime: 'automatic' },
    sourcemap: true,
  })
  if (errors.length > 0) throw new SyntaxError(errors.map(({ message }) => message).join('\n'))
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64')
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`
}

/** Makes the names of a browser global. `fetch`, timers, `URL` and streams stay those of Node. */
function provideDocument(window) {
  const provide = (name, value) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  for (const name of Object.getOwnPropertyNames(window)) if (!(name in globalThis)) provide(name, window[name])
  for (const name of ['document', 'history', ...OF_THE_BROWSER]) provide(name, window[name])
  // happy-dom loads no fonts; text areas that grow listen for them.
  window.document.fonts ??= new window.EventTarget()
  provide('window', window)
  provide('self', window)
}
