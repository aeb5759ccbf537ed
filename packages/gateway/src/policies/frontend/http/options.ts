import { http2Defaults, type Http2Limits } from '@portico/http/server'
import type { FrontendHttpConfig } from './schema.ts'

export function http1Options(config: FrontendHttpConfig | undefined): { maxHeaders: number; idleTimeoutMs: number } {
  return { maxHeaders: config?.http1MaxHeaders ?? 100, idleTimeoutMs: config?.http1IdleTimeout ?? 600_000 }
}

export function http2Options(config: FrontendHttpConfig | undefined): Http2Limits {
  return {
    ...http2Defaults,
    ...defined({
      windowSize: config?.http2WindowSize,
      // A configured window size is also the upper bound: such windows do not grow.
      largestWindowSize: config?.http2WindowSize,
      connectionWindowSize: config?.http2ConnectionWindowSize,
      frameSize: config?.http2FrameSize,
      maxHeaderSize: config?.http2MaxHeaderSize,
      keepaliveIntervalMs: config?.http2KeepaliveInterval,
      keepaliveTimeoutMs: config?.http2KeepaliveTimeout,
    }),
  }
}

function defined(limits: { [Name in keyof Http2Limits]?: number | undefined }): Partial<Http2Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}
