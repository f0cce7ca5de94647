import { Component, type ReactNode } from 'react';

interface Props {
  /** What is missing if the children fail, e.g. `The charts`. */
  readonly what: string;
  readonly children: ReactNode;
}

/** Keeps the rest of the page when a part of it fails, for example when its code cannot be fetched. */
export class ErrorBoundary extends Component<Props, { readonly problem?: string }> {
  override state: { readonly problem?: string } = {};

  static getDerivedStateFromError(error: Error): { readonly problem: string } {
    return { problem: error.message };
  }

  override render(): ReactNode {
    const { problem } = this.state;
    if (problem === undefined) return this.props.children;
    return (
      <p role="alert">
        {this.props.what} could not be shown: {problem}. The run goes on without it. If the page’s server has
        stopped, start it again and reload the page.
      </p>
    );
  }
}
