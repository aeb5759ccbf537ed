import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'

export const translate = defineCommand({
  name: 'translate',
  summary: 'translate manifests to gateway configs, without a cluster',
  usage: '-f <path> [options]',
  options: {
    file: {
      kind: 'value',
      short: 'f',
      value: '<path>',
      summary: 'a file or a folder of manifests (required)',
      isPath: true,
    },
    gateway: { kind: 'value', value: '<namespace/name>', summary: 'only the config of this Gateway' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'yaml (default) or json', fallback: 'yaml' },
  },
  notes: `Prints the config of each Gateway of class portico, the addresses of its Services, and the
status of every resource, as a controller in a cluster would write them. Secrets are redacted.

Standard error gets the problems with file, line and column: invalid files, conditions that are not
as they should be, and ignored resources.

Exit codes: 0 no problem, 1 an invalid file or a condition with a problem, 2 bad usage.

  porticoctl translate -f manifests/
  porticoctl translate -f manifests/ --gateway shop/web -o json
`,
  async run({ options: { file, gateway, output }, operands, afterDashes, io }) {
    const [extra] = [...operands, ...(afterDashes ?? [])]
    const problem = problemOf({ file, gateway, output, extra })
    if (file === null || problem !== null) {
      io.stderr.write(`porticoctl translate: ${printable(problem ?? '')}\n(porticoctl translate --help shows how)\n`)
      return exitCode.badUsage
    }
    // Translation and its dependencies are loaded only when needed.
    const { translateFiles } = await import('../translate/translate-files.ts')
    return translateFiles({ file, gateway, isJson: output === 'json' }, io)
  },
})

interface TranslateArguments {
  file: string | null
  gateway: string | null
  output: string
  extra: string | undefined
}

function problemOf({ file, gateway, output, extra }: TranslateArguments): string | null {
  if (file === null || file === '') return '-f is required: a file or a folder of manifests'
  if (extra !== undefined) return `found ${JSON.stringify(extra)}, expected options only; -f names one file or folder`
  if (gateway !== null && !/^[^/]+\/[^/]+$/.test(gateway)) {
    return `found Gateway ${JSON.stringify(gateway)}, expected <namespace>/<name>`
  }
  return ['yaml', 'json'].includes(output) ? null : `found output ${JSON.stringify(output)}, expected yaml or json`
}
