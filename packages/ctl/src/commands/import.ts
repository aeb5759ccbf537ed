import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'

/** The gateways whose configs can be imported; packages/import has the same list. */
export const SOURCE_KINDS = ['agentgateway', 'caddy', 'envoy', 'haproxy', 'kong', 'litellm', 'nginx', 'traefik']

export const importConfig = defineCommand({
  name: 'import',
  summary: 'turn the config of another gateway into a config, a report and a test file',
  usage: '--from <gateway> <file> ... [options]',
  options: {
    from: { kind: 'value', value: '<gateway>', summary: `the other gateway: ${SOURCE_KINDS.join(', ')} (required)` },
    out: {
      kind: 'value',
      value: '<folder>',
      summary: 'folder for the files (default: the current one)',
      fallback: '.',
      isPath: true,
    },
    root: {
      kind: 'value',
      value: '<folder>',
      summary: 'folder of included files; those outside of it are not read (default: that of the first file)',
      isPath: true,
    },
    force: { kind: 'flag', summary: 'replace files that exist' },
    strict: { kind: 'flag', summary: 'fail when something is not carried' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'text (default) or json', fallback: 'text' },
  },
  notes: `Writes three files: gateway.yaml, the config; gateway.test.yaml, tests that state its behavior; and
gateway.report.txt, which says of each field or directive of the source whether it is carried, changed or not carried, with
its line. Then it checks the config, runs the tests, and prints what is changed or not carried.

Nothing is dropped in silence: a field that the importer does not know, or whose meaning is not certain, is not carried, and
the report names it. Entries marked (protection) limited access before: replace them before traffic comes.

Exit codes: 0 imported, 1 the source cannot be imported, or a check or a test failed, 2 bad usage.

  porticoctl import --from litellm config.yaml
  porticoctl import --from litellm config.yaml --out gateway/ -o json --strict
  porticoctl import --from nginx /etc/nginx/nginx.conf --out gateway/
`,
  async run({ options: { from, out, root, force, strict, output }, operands, afterDashes, io }) {
    const files = [...operands, ...(afterDashes ?? [])]
    const problem = problemOf({ from, output, files })
    if (from === null || problem !== null) {
      io.stderr.write(`porticoctl import: ${printable(problem ?? '')}\n(porticoctl import --help shows how)\n`)
      return exitCode.badUsage
    }
    // The importers and the gateway, which checks the result, are loaded only when needed.
    const { importFiles } = await import('../import/import-files.ts')
    return importFiles({ from, files, out, root, replaces: force, isStrict: strict, isJson: output === 'json' }, io)
  },
})

interface ImportArguments {
  from: string | null
  output: string
  files: readonly string[]
}

function problemOf({ from, output, files }: ImportArguments): string | null {
  const kinds = `one of ${SOURCE_KINDS.join(', ')}`
  if (from === null) return `--from is required: ${kinds}`
  if (!SOURCE_KINDS.includes(from)) return `found --from ${JSON.stringify(from)}, expected ${kinds}`
  if (files.length === 0) return 'found no file, expected the config of the other gateway'
  return ['text', 'json'].includes(output) ? null : `found output ${JSON.stringify(output)}, expected text or json`
}
