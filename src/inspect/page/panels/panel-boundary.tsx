import { Component, type ComponentChildren, type JSX } from 'preact'

interface BoundaryProps {
  readonly title: string
  /** What is shown, as text: once it changes, the panel is tried again. */
  readonly moment: string
  readonly children: ComponentChildren
}

interface BoundaryState {
  readonly failure: string | null
}

/** Keeps an error of one panel in that panel, and says that there was one. */
export class PanelBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failure: null }

  static override getDerivedStateFromError(error: unknown): BoundaryState {
    return { failure: error instanceof Error ? error.message : 'something that is not an error was thrown' }
  }

  override componentDidUpdate({ moment }: BoundaryProps): void {
    if (this.state.failure !== null && moment !== this.props.moment) this.setState({ failure: null })
  }

  override render(): JSX.Element {
    const { failure } = this.state
    if (failure === null) return <>{this.props.children}</>
    return (
      <div class="panel">
        <p class="note note-bad" role="alert">
          <strong>{this.props.title} cannot be shown here.</strong> {failure}
        </p>
      </div>
    )
  }
}
