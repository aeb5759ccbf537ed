// The expressions, their variables, and the same work written by hand.
import { CelError, Cidr, createEnvironment, dyn, headers, HeadersView, Ip, present, struct } from '@portico/cel'

class RequestHeaders extends HeadersView {
  #values

  constructor(values) {
    super()
    this.#values = values
  }

  get(name) {
    return this.#values.get(name)
  }

  keys() {
    return this.#values.keys()
  }
}

/** Values are created when they are read, as in the gateway. */
class Request {
  #seed
  #headers

  constructor(seed) {
    this.#seed = seed
  }

  get method() {
    return 'GET'
  }

  get path() {
    return this.#seed.path
  }

  get headers() {
    return (this.#headers ??= new RequestHeaders(this.#seed.headers))
  }
}

class Scope {
  #seed
  #request

  constructor(seed) {
    this.#seed = seed
  }

  get request() {
    return (this.#request ??= new Request(this.#seed))
  }

  get response() {
    return this.#seed.response
  }

  get source() {
    return this.#seed.source
  }

  get jwt() {
    return this.#seed.jwt
  }

  get llm() {
    return this.#seed.llm
  }
}

class Response {
  #code

  constructor(code) {
    this.#code = code
  }

  get code() {
    return this.#code
  }
}

class Source {
  #address

  constructor(address) {
    this.#address = address
  }

  get address() {
    return this.#address
  }
}

class Llm {
  #totalTokens

  constructor(totalTokens) {
    this.#totalTokens = totalTokens
  }

  get totalTokens() {
    return this.#totalTokens
  }
}

export const CONTEXTS = 16

export function makeScopes({ withJwt }) {
  return Array.from({ length: CONTEXTS }, (_, i) => {
    const claims = {
      iss: 'https://idp.example',
      sub: i % 4 === 0 ? 'u2' : 'u1',
      ...(i % 3 === 0 && { email: 'u@example.com' }),
      groups: i % 2 === 0 ? ['dev', 'admin'] : ['dev', 'ops', 'sales'],
      permissions: ['read:y', i % 2 === 0 ? 'read:x' : 'write:x'],
      exp: 1_900_000_000 + i,
    }
    return new Scope({
      path: i % 4 === 0 ? '/v2/items' : `/v1/items/${i}`,
      headers: new Map([
        ['host', 'example.com'],
        ['x-team', i % 3 === 0 ? 'b' : 'a'],
        ['a', `value-${i}`],
      ]),
      // The claims as parsed from a token.
      jwt: withJwt ? JSON.parse(JSON.stringify(claims)) : undefined,
      llm: new Llm(100 + i),
      response: new Response(i % 5 === 0 ? 503 : 200),
      source: new Source(i % 2 === 0 ? `10.1.2.${i}` : `192.168.7.${i}`),
    })
  })
}

const environmentOptions = {
  variables: {
    request: struct({ method: present, path: present, headers }),
    response: struct({ code: present }, { optional: true }),
    source: struct({ address: present }),
    llm: struct({ totalTokens: dyn }, { optional: true }),
    jwt: dyn,
  },
}

export const environment = createEnvironment(environmentOptions)

const missing = new CelError('no_such_key', 'no such key')
const wrongType = new CelError('no_such_overload', 'no such overload')

const range = new Cidr(new Ip(4, 10 * 2 ** 24), 8)

/** Handwritten equivalents of the expressions: types are checked, nothing throws, absent values are handled. */
export const expressions = [
  {
    name: 'path && header',
    source: 'request.path.startsWith("/v1") && request.headers["x-team"] == "a"',
    byHand: (c) => {
      const path = c.request?.path
      if (typeof path !== 'string') return path === undefined ? missing : wrongType
      if (!path.startsWith('/v1')) return false
      const team = c.request?.headers?.get('x-team')
      return team === undefined ? missing : team === 'a'
    },
  },
  {
    name: 'sub && in',
    source: 'jwt.sub == "u1" && "admin" in jwt.groups',
    byHand: (c) => {
      const { jwt } = c
      if (typeof jwt !== 'object' || jwt === null || jwt.constructor !== Object) return missing
      const { sub, groups } = jwt
      if (sub === undefined) return missing
      if (sub !== 'u1') return false
      if (!Array.isArray(groups)) return groups === undefined ? missing : wrongType
      return groups.includes('admin')
    },
  },
  {
    name: 'has && exists',
    source: 'has(jwt.permissions) && jwt.permissions.exists(p, p == "read:x")',
    byHand: (c) => {
      const { jwt } = c
      if (jwt === undefined || jwt === null) return false
      if (typeof jwt !== 'object' || jwt.constructor !== Object) return wrongType
      const { permissions } = jwt
      if (permissions === undefined) return false
      if (!Array.isArray(permissions)) return wrongType
      for (let i = 0; i < permissions.length; i++) if (permissions[i] === 'read:x') return true
      return false
    },
  },
  {
    name: 'concat',
    source: 'request.headers["a"] + "-" + string(llm.totalTokens)',
    byHand: (c) => {
      const header = c.request?.headers?.get('a')
      if (typeof header !== 'string') return header === undefined ? missing : wrongType
      const tokens = c.llm?.totalTokens
      if (tokens === undefined) return missing
      if (!Number.isSafeInteger(tokens)) return wrongType
      return `${header}-${tokens}`
    },
  },
  {
    name: 'code >= 500',
    source: 'response.code >= 500',
    byHand: (c) => {
      const code = c.response?.code
      return typeof code === 'number' ? code >= 500 : code === undefined ? missing : wrongType
    },
  },
  {
    name: 'startsWith',
    source: 'source.address.startsWith("10.")',
    byHand: (c) => {
      const address = c.source?.address
      return typeof address === 'string' ? address.startsWith('10.') : address === undefined ? missing : wrongType
    },
  },
  {
    name: 'cidr',
    source: 'cidr("10.0.0.0/8").containsIP(source.address)',
    byHand: (c) => {
      const address = c.source?.address
      if (typeof address !== 'string') return address === undefined ? missing : wrongType
      return range.containsText(address) ?? wrongType
    },
  },
]
