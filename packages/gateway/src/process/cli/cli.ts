import { parseArgs } from 'node:util'

/** The command of the command line. */
type Command =
  | { kind: 'help' | 'version' }
  | { kind: 'run'; file: string | null; gateway: string | null; validateOnly: boolean; printExpanded: boolean }
  | { kind: 'mistake'; message: string }

export function parseCommand(args: readonly string[]): Command {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        file: { type: 'string', short: 'f' },
        gateway: { type: 'string' },
        'validate-only': { type: 'boolean', default: false },
        'print-expanded': { type: 'boolean', default: false },
        version: { type: 'boolean', short: 'V', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: false,
    })
    if (values.help) return { kind: 'help' }
    if (values.version) return { kind: 'version' }
    const { file = null, gateway = null } = values
    if (gateway !== null && file === null)
      return { kind: 'mistake', message: '--gateway chooses among manifests: -f names them' }
    return {
      kind: 'run',
      file,
      gateway,
      validateOnly: values['validate-only'],
      printExpanded: values['print-expanded'],
    }
  } catch (error) {
    return { kind: 'mistake', message: error instanceof Error ? error.message : String(error) }
  }
}

export const HELP = `portico: a gateway for HTTP, LLM and MCP traffic

usage: portico [-f FILE] [--gateway NAMESPACE/NAME] [--validate-only | --print-expanded]

  -f, --file FILE   the config file (YAML or JSON); - reads standard input.
                    A folder, or a file with resources of the Gateway API, is run as manifests.
                    Without it a built-in quick start runs on loopback, with a model when
                    OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY is set.
  --gateway NAMESPACE/NAME
                    which Gateway of the manifests to run, where there are several
  --validate-only   check the config, say what is wrong, and stop
  --print-expanded  check the config, print it with "llm" in its long form, and stop
  -V, --version     print the version
  -h, --help        print this

The file is watched: a change goes live by itself, a bad one is refused and
the last good config stays. Exit codes: 0 fine, 1 could not start, 2 bad config.
`
