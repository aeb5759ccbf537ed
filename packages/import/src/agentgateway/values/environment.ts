import { literalPart, Template, Variable } from '../../core/config-yaml.ts'

/** A text of the config, in which environment variables may be named. */
type SourceValue = string | Template | Variable

const REFERENCE = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::-([^}]*))?\})/g

/**
 * The environment variables that an agentgateway file names, with values for tests. agentgateway replaces variables
 * before it parses the YAML.
 */
export class Environment {
  readonly #values = new Map<string, string>()

  /** Converts `$NAME` and `${NAME}` in a text to variables of the Portico config. */
  valueOf(text: string): SourceValue {
    const found = [...text.matchAll(REFERENCE)]
    const [first] = found
    if (first === undefined) return text
    for (const [, short, long] of found) this.add(short ?? long ?? '')
    if (first[0] === text && first[3] === undefined) return new Variable(first[1] ?? first[2] ?? '')
    let end = 0
    let printed = ''
    for (const each of found) {
      const fallback = each[3] === undefined ? '' : `:-${each[3]}`
      printed += `${literalPart(text.slice(end, each.index))}\${${each[1] ?? each[2]}${fallback}}`
      end = each.index + each[0].length
    }
    return new Template(printed + literalPart(text.slice(end)))
  }

  /** Adds an environment variable, and returns its name. */
  add(name: string, value = exampleOf(name)): string {
    if (!this.#values.has(name)) this.#values.set(name, value)
    return name
  }

  /** Returns a value with all variables replaced by their test values. */
  sampleOf(value: unknown): unknown {
    if (value instanceof Variable) return plain(this.#values.get(value.name) ?? '')
    if (value instanceof Template) return this.#fill(value.text)
    if (Array.isArray(value)) return value.map((each) => this.sampleOf(each))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.sampleOf(member)]))
  }

  #fill(text: string): string {
    return text.replaceAll(/\$\$\{|\$\{(\w+)(?::-([^}]*))?\}/g, (whole, name?: string) =>
      name === undefined ? whole.slice(1) : (this.#values.get(name) ?? ''),
    )
  }

  get values(): Record<string, string> {
    return Object.fromEntries(this.#values)
  }
}

function plain(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text
}

/** Returns a test value for an environment variable, chosen by the variable's name. */
function exampleOf(name: string): string {
  if (/PORT$/i.test(name)) return '8080'
  const word = name.toLowerCase().replaceAll('_', '-').replaceAll(/-+$/g, '')
  return /UR[IL]$|ISSUER$/i.test(name) ? `https://${word}.test/` : `example-${word}`
}
