import type { RootCommand } from '@bomb.sh/tab'
import { type Command, defineCommand, flagOf } from '../command.ts'
import { exitCode } from '../io.ts'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell']

/** Prints the completion script of a shell; that script calls `complete -- <words>` at each press of tab. */
export function createComplete(commands: readonly Command[]): Command {
  return defineCommand({
    name: 'complete',
    summary: 'print the completion script of a shell',
    usage: `<${SHELLS.join(' | ')}>`,
    options: {},
    notes: 'Load it with: source <(porticoctl complete bash)\n',
    async run({ operands, afterDashes, io }) {
      const { RootCommand } = await import('@bomb.sh/tab')
      const root = describe(new RootCommand(), commands)
      if (afterDashes !== null) {
        // Words after a second `--` belong to curl.
        const isForShell = afterDashes.slice(0, -1).includes('--') || isPath(afterDashes, commands)
        if (isForShell) io.stdout.write(':0\n')
        else root.parse([...afterDashes])
        return exitCode.fine
      }
      const [shell, ...more] = operands
      if (shell === undefined || more.length > 0 || !SHELLS.includes(shell)) {
        io.stderr.write(`porticoctl complete: give one shell: ${SHELLS.join(', ')}\n`)
        return exitCode.badUsage
      }
      root.setup('porticoctl', 'porticoctl', shell)
      return exitCode.fine
    },
  })
}

/** Whether the last word is the value of a path option. */
function isPath(words: readonly string[], commands: readonly Command[]): boolean {
  const command = commands.find(({ name }) => name === words[0])
  return Object.entries(command?.options ?? {}).some(
    ([name, option]) =>
      option.kind === 'value' &&
      option.isPath === true &&
      [flagOf(name), `-${option.short ?? ''}`].includes(words.at(-2) ?? ''),
  )
}

function describe(root: RootCommand, commands: readonly Command[]): RootCommand {
  for (const command of commands) {
    const described = root.command(command.name, command.summary)
    for (const [name, option] of Object.entries(command.options)) {
      const long = flagOf(name).slice('--'.length)
      // An option without a handler is treated as a flag.
      if (option.kind === 'flag') described.option(long, option.summary)
      else described.option(long, option.summary, () => {}, option.short)
    }
  }
  root.command('complete', 'print the completion script of a shell').argument('shell', (complete) => {
    for (const shell of SHELLS) complete(shell, '')
  })
  return root
}
