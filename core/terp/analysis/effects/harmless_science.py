"""What of the libraries for numbers, tables and pictures only computes, or draws what the notebook shows.

Listed, never guessed, as in `harmless_stdlib`. What evaluates text as code (`numexpr`, all of `sympy`,
`DataFrame.eval`) or loads objects that run code (`pickle`, `joblib.load`) is left out on purpose.
"""

_PYPLOT = """
    Axes Circle Figure Line2D Normalize Polygon Rectangle annotate arrow autoscale autumn axes axhline
    axhspan axis axline axvline axvspan bar bar_label barbs barh boxplot bwr cla clabel clf clim close cm
    colorbar colormaps cool contour contourf coolwarm cycler delaxes draw errorbar eventplot figaspect
    figimage figlegend fignum_exists figtext figure fill fill_between fill_betweenx gca gcf get_cmap
    get_figlabels get_fignums gray grid hexbin hist hist2d hlines hot hsv imshow inferno ioff ion
    isinteractive jet legend locator_params loglog magma margins matshow minorticks_off minorticks_on
    nipy_spectral pause pcolor pcolormesh pie pink plasma plot polar prism quiver quiverkey rc rcParams
    rcdefaults rgrids scatter sca semilogx semilogy set_cmap setp show specgram spring spy stackplot
    stairs stem step streamplot style style.available subplot subplot2grid subplot_mosaic subplots
    subplots_adjust subplot_tool summer suptitle table text thetagrids tick_params ticklabel_format
    tight_layout title tricontour tricontourf tripcolor triplot twinx twiny violinplot viridis vlines
    winter xlabel xlim xscale xticks ylabel ylim yscale yticks
"""
_NUMPY = """
    abs absolute add all allclose amax amin angle any append apply_along_axis apply_over_axes arange
    arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere
    around array array2string array_equal array_equiv array_repr array_split array_str asanyarray asarray
    ascontiguousarray asfortranarray astype atleast_1d atleast_2d atleast_3d average bartlett base_repr
    binary_repr bincount bitwise_and bitwise_count bitwise_not bitwise_or bitwise_xor blackman block bool
    bool_ broadcast broadcast_arrays broadcast_shapes broadcast_to busday_count busday_offset byte bytes_
    c_ can_cast cbrt cdouble ceil character choose clip column_stack common_type complex128 complex64
    complexfloating compress concat concatenate conj conjugate convolve copy copysign copyto corrcoef
    correlate cos cosh count_nonzero cov cross cumprod cumsum cumulative_sum datetime64 datetime_as_string
    deg2rad degrees delete diag diag_indices diag_indices_from diagflat diagonal diff digitize divide
    divmod dot double dsplit dstack dtype e ediff1d einsum einsum_path empty empty_like equal errstate
    euler_gamma exp exp2 expand_dims expm1 extract eye fabs fill_diagonal finfo fix flatnonzero flexible
    flip fliplr flipud float16 float32 float64 float128 float_power floating floor floor_divide fmax fmin
    fmod format_float_positional format_float_scientific frexp frombuffer fromfunction fromiter frompyfunc
    fromstring full full_like gcd generic geomspace get_printoptions geterr gradient greater greater_equal
    half hamming hanning heaviside histogram histogram2d histogram_bin_edges histogramdd hsplit hstack
    hypot i0 identity iinfo imag index_exp indices inexact inf inner insert int16 int32 int64 int8 int_
    intc integer interp intersect1d intp invert is_busday isclose iscomplex iscomplexobj isfinite isin
    in1d isinf isnan isnat isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_ kaiser kron
    lcm ldexp left_shift less less_equal lexsort linspace log log10 log1p log2 logaddexp logaddexp2
    logical_and logical_not logical_or logical_xor logspace longdouble longlong mask_indices matmul matrix
    matrix_transpose max maximum mean median meshgrid mgrid min minimum mod modf moveaxis multiply nan
    nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile
    nanprod nanquantile nanstd nansum nanvar ndarray ndenumerate ndim ndindex nditer negative newaxis
    nextafter nonzero not_equal number object_ ogrid ones ones_like outer packbits pad partition
    percentile permute_dims pi piecewise place poly poly1d polyadd polyder polydiv polyfit polyint polymul
    polysub polyval positive power printoptions prod promote_types ptp put put_along_axis putmask quantile
    r_ rad2deg radians ravel ravel_multi_index real real_if_close recarray reciprocal remainder repeat
    require reshape resize result_type right_shift rint roll rollaxis roots rot90 round row_stack s_
    searchsorted select set_printoptions setdiff1d seterr setxor1d shape shares_memory short sign signbit
    signedinteger sin sinc single sinh size sort sort_complex spacing split sqrt square squeeze stack std
    str_ subtract sum swapaxes take take_along_axis tan tanh tensordot tile timedelta64 trace transpose
    trapezoid trapz tri tril tril_indices trim_zeros triu triu_indices true_divide trunc ubyte ufunc uint
    uint16 uint32 uint64 uint8 uintp union1d unique unique_counts unique_values unpackbits unravel_index
    unsignedinteger unwrap ushort vander var vdot vectorize void vsplit vstack where zeros zeros_like
    __version__
"""
_DISTRIBUTIONS = """
    beta binomial bytes chisquare choice default_rng dirichlet exponential f gamma geometric get_state
    gumbel hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal
    negative_binomial normal pareto permutation poisson power rand randint randn random random_integers
    random_sample ranf rayleigh sample seed set_state shuffle standard_cauchy standard_exponential
    standard_gamma standard_normal standard_t triangular uniform vonmises wald weibull zipf Generator
    RandomState PCG64 SeedSequence
"""
_PANDAS = """
    ArrowDtype BooleanDtype Categorical CategoricalDtype CategoricalIndex DataFrame DateOffset
    DatetimeIndex DatetimeTZDtype Float32Dtype Float64Dtype Grouper Index IndexSlice Int16Dtype Int32Dtype
    Int64Dtype Int8Dtype Interval IntervalIndex MultiIndex NA NaT NamedAgg Period PeriodIndex RangeIndex
    Series StringDtype Timedelta TimedeltaIndex Timestamp array bdate_range concat crosstab cut date_range
    describe_option factorize from_dummies get_dummies get_option infer_freq interval_range isna isnull
    json_normalize lreshape melt merge merge_asof merge_ordered notna notnull options period_range pivot
    pivot_table qcut reset_option set_eng_float_format set_option timedelta_range to_datetime to_numeric
    to_timedelta unique wide_to_long __version__
"""

MODULES = {
    "numpy": _NUMPY,
    "numpy.fft": """
        fft fft2 fftfreq fftn fftshift ifft ifft2 ifftn ifftshift irfft rfft rfftfreq hfft
    """,
    "numpy.linalg": """
        LinAlgError cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm
        matrix_power matrix_rank multi_dot norm outer pinv qr slogdet solve svd svdvals tensorsolve trace
        vecdot
    """,
    "numpy.random": _DISTRIBUTIONS,
    "numpy.polynomial": "Chebyshev Hermite Laguerre Legendre Polynomial",
    "numpy.typing": "ArrayLike NDArray DTypeLike",
    "pandas": _PANDAS,
    "pandas.api.types": """
        is_bool_dtype is_datetime64_any_dtype is_float_dtype is_integer_dtype is_list_like
        is_numeric_dtype is_object_dtype is_string_dtype is_categorical_dtype
    """,
    "pandas.errors": "EmptyDataError ParserError PerformanceWarning SettingWithCopyWarning MergeError",
    "pandas.plotting": """
        andrews_curves autocorrelation_plot lag_plot parallel_coordinates radviz scatter_matrix
    """,
    "matplotlib": "__version__ colormaps get_backend rc rcParams rcdefaults use cm",
    "matplotlib.pyplot": _PYPLOT,
    "matplotlib.cm": """
        Blues Greens Greys Oranges Reds ScalarMappable Set1 Set2 Set3 cividis coolwarm get_cmap inferno
        jet magma plasma tab10 tab20 viridis
    """,
    "matplotlib.colors": """
        BoundaryNorm Colormap LinearSegmentedColormap ListedColormap LogNorm Normalize TABLEAU_COLORS
        CSS4_COLORS to_hex to_rgb to_rgba
    """,
    "matplotlib.dates": """
        AutoDateFormatter AutoDateLocator ConciseDateFormatter DateFormatter DayLocator HourLocator
        MonthLocator WeekdayLocator YearLocator date2num num2date
    """,
    "matplotlib.figure": "Figure",
    "matplotlib.axes": "Axes",
    "matplotlib.gridspec": "GridSpec GridSpecFromSubplotSpec",
    "matplotlib.lines": "Line2D",
    "matplotlib.patches": """
        Arc Arrow Circle Ellipse FancyArrowPatch FancyBboxPatch Patch Polygon Rectangle Wedge
    """,
    "matplotlib.ticker": """
        AutoMinorLocator FixedLocator FormatStrFormatter FuncFormatter LogLocator MaxNLocator
        MultipleLocator PercentFormatter ScalarFormatter StrMethodFormatter
    """,
    "mpl_toolkits.mplot3d": "Axes3D",
    "seaborn": """
        FacetGrid JointGrid PairGrid __version__ axes_style barplot boxenplot boxplot catplot clustermap
        color_palette countplot cubehelix_palette dark_palette despine displot diverging_palette ecdfplot
        heatmap histplot husl_palette jointplot kdeplot light_palette lineplot lmplot move_legend pairplot
        plotting_context pointplot regplot relplot residplot rugplot scatterplot set set_context
        set_palette set_style set_theme stripplot swarmplot violinplot
    """,
    "scipy": "__version__",
    "scipy.cluster.hierarchy": "cophenet dendrogram fcluster linkage",
    "scipy.constants": "c g h k pi R",
    "scipy.fft": "dct fft fft2 fftfreq fftshift idct ifft irfft rfft rfftfreq",
    "scipy.integrate": """
        cumulative_trapezoid dblquad odeint quad simpson solve_ivp trapezoid
    """,
    "scipy.interpolate": """
        CubicSpline PchipInterpolator RegularGridInterpolator UnivariateSpline griddata interp1d
        make_interp_spline
    """,
    "scipy.linalg": """
        cholesky det eig eigh eigvals expm inv lstsq lu norm pinv qr solve svd
    """,
    "scipy.ndimage": "convolve gaussian_filter label median_filter rotate sobel zoom",
    "scipy.optimize": """
        bisect brentq curve_fit differential_evolution fsolve least_squares linear_sum_assignment linprog
        minimize minimize_scalar newton root root_scalar
    """,
    "scipy.signal": """
        butter convolve correlate detrend filtfilt find_peaks freqz lfilter medfilt periodogram resample
        savgol_filter sosfilt sosfiltfilt spectrogram welch
    """,
    "scipy.sparse": "coo_matrix csc_matrix csr_matrix diags eye hstack vstack",
    "scipy.spatial": "ConvexHull Delaunay KDTree Voronoi cKDTree",
    "scipy.spatial.distance": "cdist cosine euclidean pdist squareform",
    "scipy.special": "comb erf expit factorial gamma logit softmax",
    "scipy.stats": """
        anderson bernoulli beta binom boxcox chi2 chi2_contingency chisquare describe entropy expon f
        f_oneway fisher_exact friedmanchisquare gamma gaussian_kde gmean hmean iqr kendalltau kruskal
        ks_2samp kstest kurtosis levene linregress lognorm mannwhitneyu median_abs_deviation mode
        multivariate_normal norm normaltest pearsonr percentileofscore poisson probplot rankdata sem
        shapiro skew spearmanr stats t theilslopes trim_mean ttest_1samp ttest_ind ttest_rel uniform
        weibull_min wilcoxon zscore
    """,
    "sklearn": "__version__ set_config",
    "sklearn.base": "BaseEstimator ClassifierMixin RegressorMixin TransformerMixin clone",
    "sklearn.cluster": """
        AgglomerativeClustering DBSCAN KMeans MiniBatchKMeans SpectralClustering MeanShift OPTICS
    """,
    "sklearn.compose": """
        ColumnTransformer TransformedTargetRegressor make_column_transformer make_column_selector
    """,
    "sklearn.datasets": """
        load_breast_cancer load_diabetes load_digits load_iris load_wine make_blobs make_circles
        make_classification make_moons make_regression
    """,
    "sklearn.decomposition": """
        FastICA NMF PCA KernelPCA LatentDirichletAllocation TruncatedSVD
    """,
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": """
        AdaBoostClassifier AdaBoostRegressor BaggingClassifier ExtraTreesClassifier ExtraTreesRegressor
        GradientBoostingClassifier GradientBoostingRegressor HistGradientBoostingClassifier
        HistGradientBoostingRegressor IsolationForest RandomForestClassifier RandomForestRegressor
        StackingClassifier VotingClassifier VotingRegressor
    """,
    "sklearn.feature_extraction.text": "CountVectorizer TfidfTransformer TfidfVectorizer",
    "sklearn.feature_selection": """
        RFE SelectFromModel SelectKBest VarianceThreshold chi2 f_classif f_regression mutual_info_classif
        mutual_info_regression
    """,
    "sklearn.gaussian_process": "GaussianProcessClassifier GaussianProcessRegressor",
    "sklearn.impute": "IterativeImputer KNNImputer SimpleImputer",
    "sklearn.inspection": "PartialDependenceDisplay permutation_importance",
    "sklearn.linear_model": """
        BayesianRidge ElasticNet Lasso LassoCV LinearRegression LogisticRegression Perceptron Ridge
        RidgeCV RidgeClassifier SGDClassifier SGDRegressor HuberRegressor ElasticNetCV
    """,
    "sklearn.manifold": "MDS TSNE Isomap",
    "sklearn.metrics": """
        ConfusionMatrixDisplay RocCurveDisplay PrecisionRecallDisplay accuracy_score adjusted_rand_score
        auc average_precision_score balanced_accuracy_score classification_report cohen_kappa_score
        confusion_matrix f1_score fbeta_score log_loss make_scorer matthews_corrcoef max_error
        mean_absolute_error mean_absolute_percentage_error mean_squared_error mean_squared_log_error
        median_absolute_error precision_recall_curve precision_score r2_score recall_score roc_auc_score
        roc_curve root_mean_squared_error silhouette_samples silhouette_score
    """,
    "sklearn.metrics.pairwise": """
        cosine_distances cosine_similarity euclidean_distances linear_kernel manhattan_distances rbf_kernel
    """,
    "sklearn.mixture": "BayesianGaussianMixture GaussianMixture",
    "sklearn.model_selection": """
        GridSearchCV GroupKFold KFold LeaveOneOut ParameterGrid RandomizedSearchCV RepeatedStratifiedKFold
        ShuffleSplit StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit cross_val_predict
        cross_val_score cross_validate learning_curve train_test_split validation_curve
    """,
    "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier",
    "sklearn.naive_bayes": "BernoulliNB ComplementNB GaussianNB MultinomialNB",
    "sklearn.neighbors": "KNeighborsClassifier KNeighborsRegressor LocalOutlierFactor NearestNeighbors",
    "sklearn.neural_network": "MLPClassifier MLPRegressor",
    "sklearn.pipeline": "FeatureUnion Pipeline make_pipeline make_union",
    "sklearn.preprocessing": """
        Binarizer FunctionTransformer KBinsDiscretizer LabelBinarizer LabelEncoder MaxAbsScaler
        MinMaxScaler MultiLabelBinarizer Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures
        PowerTransformer QuantileTransformer RobustScaler StandardScaler TargetEncoder normalize scale
    """,
    "sklearn.svm": "LinearSVC LinearSVR OneClassSVM SVC SVR",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor export_text plot_tree",
    "statsmodels": "",
    "statsmodels.tsa.seasonal": "seasonal_decompose STL",
    "statsmodels.tsa.stattools": "acf adfuller pacf",
    "IPython": "",
    "IPython.display": "HTML JSON Latex Markdown Pretty clear_output display",
    "PIL": "",
    "PIL.Image": "Image fromarray merge new LANCZOS BICUBIC Resampling",
    "PIL.ImageDraw": "Draw",
    "PIL.ImageFilter": "BLUR CONTOUR EDGE_ENHANCE GaussianBlur SHARPEN",
    "PIL.ImageOps": "autocontrast flip grayscale invert mirror",
    "bs4": "BeautifulSoup NavigableString Tag",
    "dateutil": "",
    "dateutil.parser": "parse",
    "dateutil.relativedelta": "relativedelta",
    "networkx": """
        DiGraph Graph MultiGraph betweenness_centrality connected_components degree_centrality draw
        draw_networkx pagerank shortest_path shortest_path_length spring_layout circular_layout
    """,
    "pytz": "UTC timezone utc",
    "tabulate": "tabulate",
    "tqdm": "tqdm trange",
    "tqdm.auto": "tqdm trange",
    "tqdm.notebook": "tqdm trange",
    "yaml": "YAMLError dump safe_dump safe_load safe_load_all",
    "requests": """
        ConnectionError HTTPError RequestException Response Timeout exceptions codes
    """,
    "requests.exceptions": "ConnectionError HTTPError JSONDecodeError RequestException Timeout",
    "httpx": """
        HTTPError HTTPStatusError RequestError Response Timeout TimeoutException
    """,
    "aiohttp": "ClientError ClientTimeout",
}
