/** Codes of warnings that loading a config finds, and of comments that ignore findings. */
export const LOADER_CODES = {
  'no-effect': {
    summary: 'a setting that does nothing',
    why: 'The setting is valid, but no request is treated differently because of it. The author of the config expected something else.',
    fix: 'Remove the setting, or change the part that keeps it from working.',
    bad: `binds:
- port: 8080
  listeners:
  - routes:
    - name: empty
`,
    good: `binds:
- port: 8080
  listeners:
  - routes:
    - name: empty
      policies:
        directResponse: { status: 204 }
`,
  },
  'may-fail': {
    summary: 'an expression that may fail, or that a client can bypass',
    why: 'A deny rule that fails denies, and an allow rule that fails does not allow. A header that a client sends twice equals no text.',
    fix: 'Guard the read with `has()` or `default()`, or compare all values of the header.',
    bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        jwtAuthentication:
          providers:
          - issuer: https://idp.example.com/
            audiences: [shop]
            jwks: { url: "https://idp.example.com/keys" }
        authorization:
          rules: [{ deny: 'jwt.role == "guest"' }]
      backends: [{ host: "127.0.0.1:9000" }]
`,
    good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        jwtAuthentication:
          providers:
          - issuer: https://idp.example.com/
            audiences: [shop]
            jwks: { url: "https://idp.example.com/keys" }
        authorization:
          rules: [{ deny: 'default(jwt.role, "") == "guest"' }]
      backends: [{ host: "127.0.0.1:9000" }]
`,
  },
  'ignore-unused': {
    summary: 'a comment that ignores nothing',
    why: 'The finding that the comment was written for is gone. A comment that stays would hide the next one.',
    fix: 'Remove the comment.',
    bad: `binds:
- port: 8080
  listeners:
  - routes:
    # portico-lint-ignore route-unreachable kept for the old clients
    - backends: [{ host: "127.0.0.1:9000" }]
`,
    good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  },
  'ignore-malformed': {
    summary: 'a comment `portico-lint-ignore` without a known code or without a reason',
    why: 'A comment without a code would ignore everything, and one without a reason tells the next reader nothing. Such a comment ignores nothing.',
    fix: 'Write the code of the check, and then the reason.',
    bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }] # portico-lint-ignore secret-in-plain-text
`,
    good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  },
} as const
