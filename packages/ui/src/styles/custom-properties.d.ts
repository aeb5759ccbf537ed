import 'react'

declare module 'react' {
  /** Custom properties that components set and style sheets read. */
  interface CSSProperties {
    '--request-grid'?: string
    '--narrow-area'?: string
  }
}
