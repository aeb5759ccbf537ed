import type { Directive, Scope } from './directive.ts'

/** A named location that gets requests for which no file exists. */
interface Fallback {
  readonly directive: Directive
  readonly name: string
}

/**
 * Returns the named location that `try_files` names last, or that `error_page 404` names in a location that serves
 * files; null when neither exists.
 */
export function fallbackOf(scope: Scope): Fallback | null {
  const tried = scope.here('try_files')
  if (tried !== null) {
    const files = tried.args.slice(0, -1)
    const name = tried.args.at(-1) ?? ''
    const isPlain = files.every((file) => !/\$(?!uri\b|\{uri\}|document_uri\b)/.test(file))
    return name.startsWith('@') && isPlain ? { directive: tried, name } : null
  }
  const page = scope.here('proxy_pass') === null ? pageOf(scope, '404') : null
  return page?.name == null ? null : { directive: page.directive, name: page.name }
}

/** Returns the error page that replaces the status of a `return`; null when no error page changes the status. */
export function errorPageOf(scope: Scope, returned: Directive): { directive: Directive; name: string | null } | null {
  const [status = '', text] = returned.args
  return /^[45]\d\d$/.test(status) && text === undefined ? pageOf(scope, status) : null
}

/**
 * Returns the error page that replaces a status by another status. `name` is null when the page is not a named
 * location.
 */
function pageOf(scope: Scope, status: string): { directive: Directive; name: string | null } | null {
  const directive = scope.all('error_page').find(({ args }) => args.slice(0, -1).includes(status))
  const change = directive?.args.find((arg) => arg.startsWith('='))
  if (directive === undefined || change === undefined) return null
  const target = directive.args.at(-1) ?? ''
  return { directive, name: change === '=' && target.startsWith('@') ? target : null }
}
