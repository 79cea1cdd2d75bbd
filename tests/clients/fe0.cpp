/* Convolves as PyTorch does, by cudnn-frontend's wrappers of version 0.
 *
 *     fe0 'PROBLEM'                  the first plan of the list INSTANT that can be built, else of FALLBACK
 *     fe0 'PROBLEM' --benchmark      every plan of both, twice; then all are timed, and the fastest is executed
 *     fe0 'PROBLEM' --restore JSON   the plan whose text was stored */
#include <cudnn_frontend.h>
#include <cudnn_frontend_find_plan.h>
#include <cudnn_frontend_get_plan.h>

#include "frontend.hpp"

namespace fe = cudnn_frontend;

static graph_style pytorch_style()
{
    graph_style style = {};
    style.x = 'x';
    style.w = 'w';
    style.y = 'y';
    style.z = 'z';
    style.bias = 'b';
    style.first_virtual = 'A';
    style.alignment = 16;
    style.pack = "xywzb";
    style.z_in_y = Z_IN_Y_IF_UNREAD;
    style.restores = true;
    return style;
}

/* With what the options add. */
static graph_style style = pytorch_style();

static fe::Tensor tensor(const graph_tensor &it)
{
    return fe::TensorBuilder()
        .setDim(it.axes, it.size)
        .setStrides(it.axes, it.stride)
        .setId(it.uid)
        .setAlignment(style.alignment)
        .setDataType(it.type)
        .setVirtual(it.is_virtual)
        .build();
}

static cudnnDataType_t arithmetic(const gdnn_conv &conv)
{
    return conv.dtype == GDNN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

static fe::Operation convolution(const gdnn_conv &conv, const fe::Tensor &y)
{
    const fe::Tensor x = tensor(graph_tensor_x(&conv, &style));
    const fe::Tensor w = tensor(graph_tensor_w(&conv, &style));
    const fe::ConvDesc description =
        fe::ConvDescBuilder()
            .setDataType(arithmetic(conv))
            .setMathMode(conv.mode == GDNN_CONV ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION)
            .setNDims(conv.spatial)
            .setStrides(conv.spatial, conv.stride)
            .setPrePadding(conv.spatial, conv.pad)
            .setPostPadding(conv.spatial, conv.pad_after)
            .setDilation(conv.spatial, conv.dilation)
            .build();
    const auto build = [&](cudnnBackendDescriptorType_t kind, auto &&set) {
        fe::OperationBuilder builder(kind);
        set(builder);
        return builder.setcDesc(description).setAlpha(conv.alpha).setBeta(conv.beta).build();
    };
    switch (conv.dir) {
    case GDNN_FWD:
        return build(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                     [&](auto &b) { b.setxDesc(x).setyDesc(y).setwDesc(w); });
    case GDNN_BWD_DATA:
        return build(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                     [&](auto &b) { b.setdxDesc(x).setdyDesc(y).setwDesc(w); });
    case GDNN_BWD_FILTER: break;
    }
    return build(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                 [&](auto &b) { b.setxDesc(x).setdyDesc(y).setdwDesc(w); });
}

/* `other` is added, scaled; without it, negative elements become 0. */
static fe::Operation pointwise(const gdnn_conv &conv, const fe::Tensor &from,
                               const fe::Tensor *other, double scale, const fe::Tensor &to)
{
    const fe::PointWiseDesc description =
        fe::PointWiseDescBuilder()
            .setMode(other ? CUDNN_POINTWISE_ADD : CUDNN_POINTWISE_RELU_FWD)
            .setMathPrecision(arithmetic(conv))
            .build();
    fe::OperationBuilder builder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    builder.setxDesc(from).setyDesc(to).setpwDesc(description);
    if (other)
        builder.setbDesc(*other).setAlpha(1.0).setAlpha2(scale);
    return builder.build();
}

/* The graph lives no longer than the question; tensors and operations die before it does. */
static fe::OperationGraph graph(const gdnn_conv &given, cudnnHandle_t handle)
{
    gdnn_conv conv = given;
    graph_add_axis(&conv, &style);
    const int nodes = 1 + conv.z + conv.bias + (conv.act != GDNN_ACT_NONE);
    std::vector<fe::Tensor> output;
    for (int i = 0; i < nodes; i++)
        output.push_back(tensor(i == nodes - 1 ? graph_tensor_y(&conv, &style)
                                               : graph_tensor_between(&conv, &style, i)));
    std::vector<fe::Operation> operations;
    operations.push_back(convolution(conv, output[0]));
    const auto add = [&](const fe::Tensor *other, double scale) {
        const size_t i = operations.size();
        operations.push_back(pointwise(conv, output[i - 1], other, scale, output[i]));
    };
    if (conv.z) {
        const fe::Tensor z = tensor(graph_tensor_z(&conv, &style));
        add(&z, conv.alpha2);
    }
    if (conv.bias) {
        const fe::Tensor bias = tensor(graph_tensor_bias(&conv, &style));
        add(&bias, 1);
    }
    if (conv.act != GDNN_ACT_NONE)
        add(nullptr, 0);
    return fe::OperationGraphBuilder().setHandle(handle).setOperationGraph(operations).build();
}

static bool excluded(cudnnBackendDescriptor_t config, const graph_options &options)
{
    return fe::hasNumericalNote<CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS>(config) ||
           (options.no_tensor_core &&
            fe::hasNumericalNote<CUDNN_NUMERICAL_NOTE_TENSOR_CORE>(config)) ||
           (options.deterministic &&
            fe::hasNumericalNote<CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC>(config));
}

class Planner
{
    const graph_face &face;
    const cudnnHandle_t handle;
    std::shared_ptr<fe::DeviceProperties> gpu; /* none where there is a handle */

    fe::GeneratorSource source(cudnnBackendHeurMode_t mode)
    {
        return [this, mode](fe::OperationGraph &graph) {
            fe::EngineConfigList kept;
            try {
                auto heuristics = fe::EngineHeuristicsBuilder()
                                      .setOperationGraph(graph)
                                      .setDeviceProperties(gpu)
                                      .setHeurMode(mode)
                                      .build();
                auto &all = heuristics.getEngineConfig(heuristics.getEngineConfigCount());
                fe::filter(all, kept, [this](cudnnBackendDescriptor_t config) {
                    return excluded(config, face.options);
                });
            } catch (fe::cudnnException &exception) {
                frontend_refused("heuristics", exception.what());
            }
            return kept;
        };
    }

    fe::executionPlans_t plans(const std::vector<cudnnBackendHeurMode_t> &modes, size_t most)
    {
        std::vector<fe::GeneratorSource> sources;
        for (const cudnnBackendHeurMode_t mode : modes)
            sources.push_back(source(mode));
        fe::EngineConfigGenerator generator((int)sources.size(), sources.data());
        fe::OperationGraph asked = graph(face.options.conv, handle);
        if (face.options.plan < 0)
            return generator.cudnnGetPlan(handle, asked, most);
        const fe::EngineConfigList configs = generator.generate_engine_config(asked);
        fe::executionPlans_t one;
        if ((size_t)face.options.plan < configs.size())
            one.push_back(fe::ExecutionPlanBuilder()
                              .setHandle(handle)
                              .setEngineConfig(configs[face.options.plan], asked.getTag())
                              .build());
        return one;
    }

    fe::executionPlans_t restored()
    {
        fe::executionPlans_t one;
        one.push_back(
            fe::ExecutionPlanBuilder().setHandle(handle).setDeviceProperties(gpu).loadFromJson(
                face.options.restore));
        return one;
    }

  public:
    explicit Planner(const graph_face &its_face) : face(its_face), handle(face.target.handle)
    {
        if (handle)
            return;
        gpu = std::make_shared<fe::DeviceProperties>();
        auto error = gpu->deserialize(frontend_gpu(face));
        if (error.is_bad())
            throw fe::cudnnException(error.get_message().c_str(), CUDNN_STATUS_NOT_SUPPORTED);
    }

    fe::executionPlans_t make()
    {
        if (face.options.restore)
            return restored();
        if (face.options.benchmark || face.options.plan >= 0)
            return plans({CUDNN_HEUR_MODE_INSTANT, CUDNN_HEUR_MODE_FALLBACK}, GRAPH_PLANS_MOST);
        fe::executionPlans_t first = plans({CUDNN_HEUR_MODE_INSTANT}, 1);
        return first.empty() ? plans({CUDNN_HEUR_MODE_FALLBACK}, 1) : std::move(first);
    }
};

static void show(graph_face &face, const fe::ExecutionPlan &plan)
{
    frontend_plan(face, plan.getTag(), plan.getWorkspaceSize(), plan.getJsonRepresentation(),
                  plan.getAllNumericNotes());
}

/* The plans of a face, in its order. */
struct Session {
    graph_face face;
    fe::executionPlans_t plans;
};

static fe::VariantPack pack(const graph_arguments *arguments)
{
    graph_arguments given = *arguments;
    return fe::VariantPackBuilder()
        .setWorkspacePointer(given.workspace)
        .setDataPointers(given.count, given.pointer)
        .setUids(given.count, given.uid)
        .build();
}

static cudnnStatus_t execute(const graph_run *run, const graph_plan *plan,
                             const graph_arguments *arguments)
{
    const Session &session = *static_cast<Session *>(run->context);
    try {
        return cudnnBackendExecute(run->handle,
                                   session.plans[plan - session.face.plan].get_raw_desc(),
                                   pack(arguments).get_raw_desc());
    } catch (fe::cudnnException &exception) {
        frontend_refused("execution", exception.what());
        return exception.getCudnnStatus();
    }
}

/* Executes all plans, and sorts them by their time. */
static cudnnStatus_t find(const graph_run *run, const graph_plan *,
                          const graph_arguments *arguments)
{
    Session &session = *static_cast<Session *>(run->context);
    constexpr auto once = fe::CudnnFindSamplingTechnique::CUDNN_FIND_SAMPLE_ONCE;
    try {
        session.plans =
            fe::time_sorted_plan<once>(run->handle, std::move(session.plans), pack(arguments), 10);
        return session.plans.empty() ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
    } catch (fe::cudnnException &exception) {
        frontend_refused("find", exception.what());
        return exception.getCudnnStatus();
    }
}

static void run_fastest(Session &session)
{
    graph_face &face = session.face;
    graph_plan every = {};
    snprintf(every.tag, sizeof every.tag, "all");
    for (int i = 0; i < face.plans; i++) {
        every.workspace = std::max(every.workspace, face.plan[i].workspace);
        every.tensor_core = every.tensor_core || face.plan[i].tensor_core;
    }
    face.run.execute = find;
    if (!graph_run_plan(&face.run, &every))
        return;
    face.run.execute = execute;
    face.plans = 0;
    show(face, session.plans.front());
    graph_run_plan(&face.run, &face.plan[0]);
}

static void plan_and_run(Session &session)
{
    graph_face &face = session.face;
    session.plans = Planner(face).make();
    for (const fe::ExecutionPlan &plan : session.plans)
        show(face, plan);
    face.run.execute = execute;
    face.run.context = &session;
    graph_face_run(&face, face.options.benchmark ? 2 : 0);
    /* Plans that add to what is there would do so at each of their trials. */
    if (face.options.run && face.options.benchmark && face.options.conv.beta == 0)
        run_fastest(session);
}

int main(int argc, char **argv)
{
    static Session session;
    if (!frontend_begin(argc, argv, style, session.face))
        return session.face.exit_status;
    style = session.face.style;
    try {
        plan_and_run(session);
    } catch (const std::exception &exception) {
        frontend_refused("plans", exception.what());
    }
    session.plans.clear();
    return graph_face_end(&session.face);
}
