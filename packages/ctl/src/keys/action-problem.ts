interface ActionArguments {
  /** The action and the name. */
  readonly given: readonly string[]
  readonly known: readonly string[]
  readonly what: 'key' | 'team'
  readonly output: string
}

/** The problem of the arguments of `keys` or `teams`; null when there is none. */
export function actionProblem({ given, known, what, output }: ActionArguments): string | null {
  const [action, name, extra] = given
  if (action === undefined || !known.includes(action)) {
    const found = action === undefined ? 'no action' : JSON.stringify(action)
    return `found ${found}, expected one of ${known.join(', ')}`
  }
  if (extra !== undefined) return `found ${JSON.stringify(extra)}, expected one name`
  if (action === 'list' && name !== undefined) return 'list takes no name'
  if (action !== 'list' && (name === undefined || !NAME.test(name))) {
    return `${action} needs the name of a ${what}: up to 63 letters, digits, dots, dashes and underscores`
  }
  return ['text', 'json'].includes(output) ? null : `found output ${JSON.stringify(output)}, expected text or json`
}

const NAME = /^[A-Za-z0-9][\w.-]{0,62}$/
