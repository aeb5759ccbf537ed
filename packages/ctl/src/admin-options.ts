/** The address of the admin server of a standalone gateway, and the token for any admin server. */
export const adminOptions = {
  admin: {
    kind: 'value',
    value: '<host:port>',
    summary: 'admin address of the gateway, or unix:/path (env PORTICO_ADMIN_ADDR, default 127.0.0.1:15000)',
    env: 'PORTICO_ADMIN_ADDR',
    fallback: '127.0.0.1:15000',
  },
  adminToken: {
    kind: 'value',
    value: '<token>',
    summary: 'token of the admin server (env PORTICO_ADMIN_TOKEN, which other users of the machine cannot see)',
    env: 'PORTICO_ADMIN_TOKEN',
  },
} as const
