import type { Io } from './io.ts'

export interface FlagOption {
  readonly kind: 'flag'
  readonly summary: string
}

export interface ValueOption {
  readonly kind: 'value'
  /** The short flag: `f` is `-f`. */
  readonly short?: string
  /** The placeholder of the value in help, such as `<port>`. */
  readonly value: string
  readonly summary: string
  /** Read when the option is not given; an empty variable counts as unset. */
  readonly env?: string
  readonly fallback?: string
  /** Whether shells complete the value with file names. */
  readonly isPath?: true
}

/** Options by their name in camel case: `adminToken` is `--admin-token`. */
type OptionTable = Readonly<Record<string, FlagOption | ValueOption>>

type OptionValues<Table extends OptionTable> = {
  readonly [Name in keyof Table]: Table[Name] extends FlagOption
    ? boolean
    : Table[Name] extends { readonly fallback: string }
      ? string
      : string | null
}

interface Call {
  readonly operands: readonly string[]
  readonly afterDashes: readonly string[] | null
  readonly io: Io
}

interface CommandDefinition<Table extends OptionTable> {
  readonly name: string
  readonly summary: string
  /** The arguments in help, without the name of the command. */
  readonly usage: string
  readonly options: Table
  /** Printed below the options in help. */
  readonly notes: string
  /** Runs the command; resolves to the exit code. */
  run(call: Call & { readonly options: OptionValues<Table> }): Promise<number>
}

export interface Command extends Omit<CommandDefinition<OptionTable>, 'run'> {
  /** Runs the command; `given` contains the options of the command line by name. */
  start(call: Call, given: Readonly<Record<string, unknown>>): Promise<number>
}

export function defineCommand<const Table extends OptionTable>(definition: CommandDefinition<Table>): Command {
  return {
    ...definition,
    start: (call, given) => definition.run({ ...call, options: optionValues(definition.options, given, call.io.env) }),
  }
}

/** Converts `adminToken` to `--admin-token`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function optionValues<Table extends OptionTable>(
  table: Table,
  given: Readonly<Record<string, unknown>>,
  env: Io['env'],
) {
  const values = Object.entries(table).map(([name, option]) => {
    const found = given[name]
    if (option.kind === 'flag') return [name, found === true]
    const fromEnv = option.env === undefined ? '' : (env[option.env] ?? '')
    return [name, typeof found === 'string' ? found : fromEnv === '' ? (option.fallback ?? null) : fromEnv]
  })
  return Object.fromEntries(values) as OptionValues<Table>
}
