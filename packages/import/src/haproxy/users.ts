import type { Section } from './parse.ts'

/**
 * The users of each `userlist` as lines of an htpasswd file, or the reason as a string when the list cannot be
 * imported.
 */
export type Userlists = ReadonlyMap<string, readonly string[] | string>

export function readUserlists(sections: readonly Section[]): Userlists {
  return new Map(
    sections
      .filter(({ kind }) => kind === 'userlist')
      .map(({ name, head, lines }) => {
        head.carried()
        const users: string[] = []
        let problem = ''
        for (const line of lines) {
          const [user = '', kind, hash = ''] = line.args
          if (
            line.name === 'user' &&
            kind === 'password' &&
            /^\$(1|5|6|2[aby])\$[\w./$=]+$/.test(hash) &&
            /^[^\s:]+$/.test(user)
          ) {
            line.carried()
            users.push(`${user}:${hash}`)
          } else if (line.name === 'group') line.notCarried('the gateway has no groups of users')
          else {
            line.notCarried('the gateway does not accept this password; hash the password with htpasswd -B', true)
            problem = 'the gateway does not accept a password of the userlist'
          }
        }
        return [name, problem === '' && users.length > 0 ? users : problem || 'the userlist has no users']
      }),
  )
}

/**
 * Reads `auth realm R unless { http_auth(list) }` as a policy; returns the reason as a string when the policy cannot be
 * imported.
 */
export function readUsers(
  words: readonly string[],
  tail: readonly string[],
  acls: ReadonlyMap<string, readonly (readonly string[])[]>,
  lists: Userlists,
): object | string {
  const at = words.indexOf('realm')
  const realm = at === -1 ? undefined : words[at + 1]
  const text = tail.join(' ')
  const named = /^(?:if !|unless )([^\s{}]+)$/.exec(text)?.[1]
  const [test, second] = named === undefined ? [] : (acls.get(named) ?? [])
  const [, name] =
    /^http_auth\(([^)]+)\)$/.exec(
      (second === undefined ? test?.join(' ') : undefined) ?? /^(?:if !|unless ){ (\S+) }$/.exec(text)?.[1] ?? '',
    ) ?? []
  const users =
    name === undefined
      ? 'the condition does not name a userlist'
      : (lists.get(name) ?? 'the config has no userlist with this name')
  if (typeof users === 'string') return users
  return { ...(realm !== undefined && /^[\x20-\x7e]{1,100}$/.test(realm) && !/["\\]/.test(realm) && { realm }), users }
}
