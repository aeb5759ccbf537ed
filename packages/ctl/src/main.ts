import { Command as CommanderCommand, CommanderError, Option } from 'commander'
import { type Command, type FlagOption, flagOf, type ValueOption } from './command.ts'
import { commands } from './commands/index.ts'
import { exitCode, type Io } from './io.ts'
import { splitArgs } from './split-args.ts'
import { VERSION } from './version.ts'

/** Runs the command line; resolves to the exit code. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  const { own, afterDashes } = splitArgs(args)
  const program = createProgram(io)
  let code: number = exitCode.fine
  for (const command of commands) {
    addCommand(program, command, async (operands, given) => {
      code = await command.start({ operands, afterDashes, io }, given)
    })
  }
  try {
    await program.parseAsync([...own], { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return ASKED_FOR.has(error.code) ? exitCode.fine : exitCode.badUsage
  }
}

const ASKED_FOR = new Set(['commander.helpDisplayed', 'commander.version'])

function createProgram(io: Io): CommanderCommand {
  return new CommanderCommand('porticoctl')
    .description('Inspects a running Portico gateway and its config.')
    .version(`porticoctl ${VERSION}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .showHelpAfterError('(porticoctl --help lists commands and options)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'porticoctl: ')),
    })
}

function addCommand(
  program: CommanderCommand,
  command: Command,
  run: (operands: string[], given: Record<string, unknown>) => Promise<void>,
): void {
  const added = program
    .command(command.name)
    .summary(command.summary)
    .description(command.summary)
    .usage(command.usage)
    .helpOption('-h, --help', 'print help')
    // Each command reports unexpected arguments better than the parser.
    .allowExcessArguments()
    .addHelpText('after', `\n${command.notes}`)
  for (const [name, option] of Object.entries(command.options)) {
    added.addOption(new Option(flagsOf(name, option), option.summary))
  }
  added.action(async (given: Record<string, unknown>, parsed: CommanderCommand) => run(parsed.args, given))
}

function flagsOf(name: string, option: FlagOption | ValueOption): string {
  if (option.kind === 'flag') return flagOf(name)
  const short = option.short === undefined ? '' : `-${option.short}, `
  return `${short}${flagOf(name)} ${option.value}`
}
