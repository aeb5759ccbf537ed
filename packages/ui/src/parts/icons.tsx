import type { ReactNode } from 'react'

/** An icon of 16 by 16 pixels, hidden from screen readers: a text stands beside it. */
function Icon({ children }: { children: ReactNode }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      aria-hidden="true"
    >
      {children}
    </svg>
  )
}

export const OverviewIcon = () => (
  <Icon>
    <circle cx="3" cy="8" r="1.6" />
    <circle cx="13" cy="4" r="1.6" />
    <circle cx="13" cy="12" r="1.6" />
    <path d="M4.6 8h2.4c2 0 1.6-4 4.4-4M7 8c2 0 1.6 4 4.4 4" />
  </Icon>
)

export const RequestsIcon = () => (
  <Icon>
    <path d="M2 4h8M2 8h12M2 12h5" />
  </Icon>
)

export const RoutesIcon = () => (
  <Icon>
    <path d="M2 3.5h4M4 3.5v9h4M4 8h4" />
    <rect x="8.5" y="6.3" width="5" height="3.4" rx="0.8" />
    <rect x="8.5" y="10.9" width="5" height="3.4" rx="0.8" />
  </Icon>
)

export const ModelsIcon = () => (
  <Icon>
    <path d="M2.5 3h11v7h-6l-3 3v-3h-2z" />
    <path d="M5.5 6.5h5" />
  </Icon>
)

export const ToolsIcon = () => (
  <Icon>
    <path d="M9.5 6.5a3 3 0 0 1 4-3.8l-2 2 .8.8 2-2a3 3 0 0 1-3.8 4L5 13a1.4 1.4 0 0 1-2-2z" />
  </Icon>
)

export const ExpressionsIcon = () => (
  <Icon>
    <path d="M5.5 2.5c-2 0-1.6 1.6-1.6 3S3.4 8 2 8c1.4 0 1.9 1.1 1.9 2.5s-.4 3 1.6 3M10.5 2.5c2 0 1.6 1.6 1.6 3S12.6 8 14 8c-1.4 0-1.9 1.1-1.9 2.5s.4 3-1.6 3" />
  </Icon>
)

export const MetricsIcon = () => (
  <Icon>
    <path d="M2 2.5v11h12" />
    <path d="M4.5 10.5l2.6-4 2.6 2.2 3.8-5" />
  </Icon>
)

export const SpendIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="6" />
    <path d="M10 5.8C9.6 5.1 8.9 4.8 8 4.8c-1.2 0-2 .6-2 1.5 0 2.1 4 1 4 3.3 0 1-.9 1.6-2 1.6-1 0-1.8-.4-2.2-1.1M8 3.6v8.8" />
  </Icon>
)

export const KeysIcon = () => (
  <Icon>
    <circle cx="5" cy="8" r="2.8" />
    <path d="M7.8 8h6.2M11 8v2.4M13.2 8v1.8" />
  </Icon>
)

export const ConfigIcon = () => (
  <Icon>
    <path d="M3.5 2h6l3 3v9h-9z" />
    <path d="M6 8h4M6 11h4" />
  </Icon>
)

export const SunIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="2.8" />
    <path d="M8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1" />
  </Icon>
)

export const MoonIcon = () => (
  <Icon>
    <path d="M13.4 9.6A5.8 5.8 0 0 1 6.4 2.6a5.8 5.8 0 1 0 7 7z" />
  </Icon>
)

export const CopyIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.2" />
    <path d="M10.5 5.5v-3h-8v8h3" />
  </Icon>
)

export const CheckIcon = () => (
  <Icon>
    <path d="M3 8.5l3.2 3.2L13 4.8" />
  </Icon>
)

export const CloseIcon = () => (
  <Icon>
    <path d="M3.5 3.5l9 9M12.5 3.5l-9 9" />
  </Icon>
)

export const LeaveIcon = () => (
  <Icon>
    <path d="M9.5 2.5h-6v11h6M7 8h7M11.5 5.5L14 8l-2.5 2.5" />
  </Icon>
)
