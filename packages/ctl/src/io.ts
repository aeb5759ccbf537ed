/** The streams and environment of a command; `process` implements it. */
export interface Io {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
}

export const exitCode = { fine: 0, failed: 1, badUsage: 2, interrupted: 130 } as const
